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

ASK = 50e-6  # of rank 0: a look for messages and an answer; an assumption, above what handing out costs in all
STORE = 200e-6  # of rank 0: a run with its numbers, curve and weights; merging reads and writes 5,530 of them a second
MERGE = 5500  # runs a second, of the same
ALONE = 31e-6  # seconds a run, of 34,020 runs
HOUR = 3600


def thirds(runs, hours):
    """Networks on images: a third of the runs each has 100, 500 and 1000 samples of a pair, and costs accordingly."""
    weights = [200, 600, 1100]  # with what is evaluated
    return [(runs // 3, 1, hours * HOUR * weight / sum(weights) / (runs // 3)) for weight in weights]


def spread(runs, hours):
    """Runs that take from two thirds to four thirds of their mean, evenly."""
    mean = hours * HOUR / runs
    return [(1, 1, mean * (2 / 3 + 2 / 3 * run / (runs - 1))) for run in range(runs)]


def one_of_each(networks, hours, models):
    """So many networks of each model at each width: `hours` of a core for one of each together, of which `models` are
    the shares. The number of rules changes little where it counts: the more modules, the smaller they are."""
    return [(networks, 1, of_width * HOUR * share / sum(models)) for of_width in hours for share in models]


# Studies as lists of (how many parcels, runs in each, seconds of each on one core), from what `modlab study show` estimates.
STUDIES = {
    "mnist, paper: 29,700 runs": [(540, 1, 19.95 * HOUR / 540)] + thirds(12960, 160.27) + thirds(1620, 11.92)
    + thirds(12960, 112.47) + thirds(1620, 15.60),
    "rules-mlp, all-widths: 5,000 runs": spread(1000, 5378.9) + spread(1000, 1153.5) + spread(1000, 288.5)
    + spread(1000, 57.9) + spread(1000, 14.3),
    # Widths from 32 to 512; oracle, op, modular, monolithic.
    "rules-mha, all-widths: 10,000 runs": one_of_each(500, [7.0, 16.2, 50.5, 174.6, 757.5], [20.9, 26.7, 31.6, 25.0]),
    "rules-rnn, all-widths: 5,000 runs": one_of_each(250, [13.8, 41.5, 199, 736, 3020], [9.8, 56.7, 61.0, 49.8]),
    "boolean, paper: 34,020 runs": [(2127, 16, 16 * 303 / 34020)],
}


def simulate_ranks(parcels, cores):
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
        server += STORE * runs  # it comes back in pieces meanwhile; taken together here
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
    if seconds >= 365 * 24 * HOUR:
        return f"{seconds / HOUR / 24 / 365:.1f} years"
    if seconds >= 1000 * HOUR:
        return f"{seconds / HOUR / 24:.0f} days"
    if seconds >= 2 * HOUR:
        return f"{seconds / HOUR:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.0f} s"


def main():
    print("| study | cores | one core | ranks | of the ideal | shards and merge | of the ideal |")
    print("|---|---|---|---|---|---|---|")
    for name, groups in STUDIES.items():
        parcels = [(seconds, runs) for count, runs, seconds in groups for _ in range(count)]
        total = sum(seconds for seconds, _ in parcels)
        runs = sum(count for _, count in parcels)
        for cores in (16, 128, 1024):
            alone = ALONE * runs
            ranks = simulate_ranks(parcels, cores) + alone
            shards = simulate_shards(parcels, cores) + runs / MERGE + alone
            ideal = total / cores
            print(f"| {name} | {cores:,} | {text(total)} | {text(ranks)} | {100 * ideal / ranks:.0f} % "
                  f"| {text(shards)} | {100 * ideal / shards:.0f} % |")


if __name__ == "__main__":
    main()
