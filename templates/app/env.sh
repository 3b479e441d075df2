#!/bin/sh
# What the compose file here needs in .env: passwords of its own, and who may use the API.
#   sh env.sh open            everybody who reaches this machine's port is one user
#   sh env.sh tokens          people show a token: Authorization: Bearer <token>, or the cookie helix_token
#   sh env.sh token <name> [role…]  prints such a token, good for a day; roles: viewer, approver, operator
set -eu

fail() {
  echo "$1" >&2
  exit 64
}
random() {
  openssl rand -hex 32
}
base64url() {
  openssl base64 -A | tr '+/' '-_' | tr -d '='
}
has() {
  grep -Eqs "^($1)=." .env
}
# Passwords that are there stay, since volumes may have begun with them.
write() {
  ! has 'JWT_[A-Z_]+|HELIX_ALLOW_UNAUTHENTICATED' ||
    fail '.env says who may use the API already: take its lines HELIX_ALLOW_UNAUTHENTICATED and JWT_… out to choose again.'
  touch .env
  chmod 600 .env
  # An editor may have left the last line without its end.
  [ ! -s .env ] || echo >>.env
  for password in REDIS_PASSWORD POSTGRES_PASSWORD; do
    has "$password" || echo "$password=$(random)" >>.env
  done
  printf '%s\n' "$@" >>.env
  echo 'Written to .env. Next: docker compose up --wait'
}

command -v openssl >/dev/null || fail 'openssl was not found; install it first.'
case "${1-}" in
  open) write HELIX_ALLOW_UNAUTHENTICATED=1 ;;
  tokens) write HELIX_ALLOW_UNAUTHENTICATED=0 "JWT_SECRET=$(random)" JWT_COOKIE=helix_token ;;
  token)
    secret=$(sed -n 's/^JWT_SECRET=//p' .env 2>/dev/null || true)
    [ -n "$secret" ] || fail '.env has no JWT_SECRET; sh env.sh tokens writes one.'
    shift
    echo "$*" | grep -Eqx '[A-Za-z0-9@._ -]+' || fail 'Say for whom, in letters, digits and @._-: sh env.sh token <name> [role…]'
    user=$1
    shift
    claims=$(printf '{"sub":"%s","roles":"%s","exp":%s}' "$user" "$*" "$(($(date +%s) + 86400))")
    signed=$(printf '{"alg":"HS256"}' | base64url).$(printf %s "$claims" | base64url)
    token=$signed.$(printf %s "$signed" | openssl dgst -sha256 -hmac "$secret" -binary | base64url)
    echo "$token"
    echo "For the page, once, in the browser's console: document.cookie = 'helix_token=$token'" >&2
    ;;
  *) fail 'Say who may use the API: sh env.sh open, or sh env.sh tokens.' ;;
esac
