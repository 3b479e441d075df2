// Withholds the variables that a process does not need.

const MODEL_KEY = /^[A-Z0-9_]+_API_KEY$/;
const SIGN_IN = /^JWT_/;
/** Variables that other programs read: paths, folders and locale. */
const OF_SYSTEM =
  /^(PATH|LD_LIBRARY_PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|XDG_\w+|GO(GC|MAXPROCS|MEMLIMIT))$/;

/** The engines get no key at all. */
export function environmentOfEngine(env) {
  return pick(env, (name) => OF_SYSTEM.test(name));
}

/** Models are called by workers; people sign in at the API. */
export function environmentOfRole(role, env) {
  const withheld = { api: MODEL_KEY, worker: SIGN_IN }[role];
  return pick(env, (name) => !withheld.test(name));
}

function pick(env, isGiven) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isGiven(name)));
}
