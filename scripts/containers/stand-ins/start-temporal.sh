#!/bin/sh
# Roles find each other by this container's address.
set -eu
address=$(getent hosts "$(hostname)" | awk '{ print $1 }')
export BIND_ON_IP="${BIND_ON_IP:-$address}" TEMPORAL_BROADCAST_ADDRESS="${TEMPORAL_BROADCAST_ADDRESS:-$address}"
exec temporal-server start
