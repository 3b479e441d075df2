#!/bin/sh
# A new database has the user and the password that the environment names.
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
  initdb -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust >/dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -w -o "-c listen_addresses=''" start >/dev/null
  createdb -U "$POSTGRES_USER" "$POSTGRES_USER"
  pg_ctl -w stop >/dev/null
fi
exec postgres -c listen_addresses='*'
