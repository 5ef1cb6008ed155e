#!/usr/bin/env bash
# slurm_here.sh FOLDER COMMAND...: runs a command on a machine that is a Slurm cluster meanwhile: munge, a controller and
# two nodes, all of them this machine under two names, with their files in FOLDER. As root. The daemons end with the
# command.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
pids=()
end_daemons() {
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null || true
  done
  for pid in "${pids[@]}"; do
    wait "$pid" 2>/dev/null || true
  done
}
trap end_daemons EXIT

free_port() { # a port that nobody has
  local port
  for port in $(shuf -i 20000-60000 -n 200); do
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "$port"
      return
    fi
  done
}

chmod 755 "$folder"
mkdir -p "$folder"/{munge,state,spool1,spool2}
chmod 700 "$folder/munge"
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
chmod 600 "$folder/munge/key"
# Whoever can reach the socket may use it, so its folder is open to all; munge insists that it belongs to its user.
mkdir -p "$folder/socket"
chmod 755 "$folder/socket"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/socket/munge" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" >/dev/null 2>&1 &
pids+=($!)

host=$(hostname -s)
cat >"$folder/slurm.conf" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/socket/munge
SlurmctldPort=$(free_port)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
SlurmctldTimeout=30
SlurmdTimeout=60
MpiDefault=none
ReturnToService=2
MaxArraySize=1001
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1 RealMemory=2000 State=UNKNOWN
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1 RealMemory=2000 State=UNKNOWN
PartitionName=here Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf
slurmctld -D >"$folder/slurmctld.out" 2>&1 &
pids+=($!)
for node in node1 node2; do
  slurmd -D -N "$node" >"$folder/$node.out" 2>&1 &
  pids+=($!)
done

# Nodes report to the controller when all daemons are up.
for _ in $(seq 300); do
  if [ "$(sinfo --noheader --Node --format=%t 2>/dev/null | grep -c '^idle$')" = 2 ]; then
    "$@"
    exit
  fi
  for pid in "${pids[@]}"; do
    kill -0 "$pid" 2>/dev/null || { echo "a daemon of Slurm has ended:"; tail -n 5 "$folder"/*.out "$folder"/*.log; exit 1; }
  done
  sleep 0.2
done
echo "the nodes do not come up:"
sinfo || true
tail -n 5 "$folder"/*.out "$folder"/*.log
exit 1
