// Which parts of the environment a process does not need, and so is not given.

const MODEL_KEY = /^[A-Z0-9_]+_API_KEY$/;
const SIGN_IN = /^JWT_/;
/** What programs of others read: where they are, where they keep things, and how they speak. */
const OF_SYSTEM =
  /^(PATH|LD_LIBRARY_PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|XDG_\w+|GO(GC|MAXPROCS|MEMLIMIT))$/;

/** The engines know no key at all. */
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
