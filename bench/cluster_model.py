#!/usr/bin/env python3
"""How far a study scales, on paper: from what was measured on two cores (docs/clusters.md), how long it takes on many.

The model. Every core trains one parcel of runs at a time. With MPI, a core that has nothing to do asks rank 0, which
answers one question after the other (ASK seconds each), gives an eighth of an equal share of what is left, the largest
parcels first, and writes what comes back into the store (STORE seconds a run). With shards, the parcels are dealt out
beforehand, and one process merges at MERGE runs a second in the end. What one process does alone comes on top of both:
planning before, selection, claims and report after (ALONE seconds a run). Messages over a network, nodes that differ and
waiting in queues are not in it.

    bench/cluster_model.py            # the table of docs/clusters.md
"""

import heapq

ASK = 50e-6        # of rank 0: an answer to a rank that asks
STORE = 150e-6     # of rank 0: a run with its numbers, curve and weights
STORE_SMALL = 60e-6  # the same of a run that keeps its numbers alone
MERGE = 5000       # runs a second
ALONE = 0.4e-3     # seconds a run
HOUR = 3600

# Studies as lists of (how many parcels, runs in each, seconds of each on one core).
STUDIES = {}


def simulate_ranks(parcels, cores, store):
    """Seconds until the last core is done and everything is in the store."""
    parcels = sorted(parcels, reverse=True)
    left = sum(seconds for seconds, _ in parcels)
    server = 0.0  # when rank 0 has time again
    asking = [(0.0, core) for core in range(cores)]
    heapq.heapify(asking)
    place = 0
    end = 0.0
    while asking:
        now, core = heapq.heappop(asking)
        if place == len(parcels):
            end = max(end, now)
            continue
        server = max(server, now) + ASK
        enough = left / (8 * cores)
        seconds, runs = parcels[place]
        place += 1
        while place < len(parcels) and seconds + parcels[place][0] <= enough:
            seconds += parcels[place][0]
            runs += parcels[place][1]
            place += 1
        left -= seconds
        begin = server
        server += store * runs  # it comes back in pieces meanwhile; taken together here
        heapq.heappush(asking, (begin + seconds, core))
        end = max(end, begin + seconds)
    return max(end, server)


def simulate_shards(parcels, cores):
    loads = [0.0] * cores
    heapq.heapify(loads)
    for seconds, _ in sorted(parcels, reverse=True):
        heapq.heapreplace(loads, loads[0] + seconds)
    return max(loads)


def text(seconds):
    if seconds >= 2 * HOUR:
        return f"{seconds / HOUR:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.0f} s"


def main():
    print("| study | cores | one core | ranks | of the ideal | shards and merge | of the ideal |")
    print("|---|---|---|---|---|---|---|")
    for name, (groups, store) in STUDIES.items():
        parcels = [(seconds, runs) for count, runs, seconds in groups for _ in range(count)]
        total = sum(seconds for seconds, _ in parcels)
        runs = sum(count for _, count in parcels)
        for cores in (16, 128, 1024):
            alone = ALONE * runs
            ranks = simulate_ranks(parcels, cores, store) + alone
            shards = simulate_shards(parcels, cores) + runs / MERGE + alone
            ideal = total / cores
            print(f"| {name} | {cores:,} | {text(total)} | {text(ranks)} | {100 * ideal / ranks:.0f} % "
                  f"| {text(shards)} | {100 * ideal / shards:.0f} % |")


if __name__ == "__main__":
    main()
