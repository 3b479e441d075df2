import {
  LIBRARY_EPILOGUE,
  LIBRARY_HASH,
  LIBRARY_MODULES,
  LIBRARY_PROLOGUE,
} from './generated/library.js';

/** How a transition may run: `free` also while Redis is out of memory, `reading` without writes. */
export type TransitionMode = 'writing' | 'free' | 'reading';
/** `rights` reports which commands the Redis user lacks. */
export type LibraryEntry = TransitionMode | 'rights';

/**
 * The transitions of one release. Every release has another hash, so several can be loaded at once.
 */
export interface Library {
  hash: string;
  /** Modules in dependency order; the last one dispatches transitions by name. */
  modules: readonly LibraryModule[];
}

interface LibraryModule {
  /** `claim`, `lib/json`. */
  name: string;
  /** The Lua variable that the code of the module sets. */
  variable: string;
  /** Modules that it depends on. */
  uses: readonly string[];
  code: string;
}

export const THIS_LIBRARY: Library = { hash: LIBRARY_HASH, modules: LIBRARY_MODULES };
const NAME_PREFIX = 'hx_';
/** Matches the library names of all releases. */
export const ANY_LIBRARY = `${NAME_PREFIX}*`;

const FORMS: Record<LibraryEntry, { suffix: string; flag?: string; body: string }> = {
  writing: { suffix: '', body: 'run' },
  free: { suffix: '_free', flag: 'allow-oom', body: 'run' },
  reading: { suffix: '_ro', flag: 'no-writes', body: 'run' },
  rights: { suffix: '_rights', flag: 'no-writes', body: 'lacking' },
};

export function libraryName({ hash }: Pick<Library, 'hash'>): string {
  return NAME_PREFIX + hash;
}

export function functionName(library: Library, entry: LibraryEntry): string {
  return libraryName(library) + FORMS[entry].suffix;
}

/** The source for FUNCTION LOAD. The modules are evaluated at the first call and then kept. */
export function functionLibrary(library: Library): string {
  const functions = (Object.keys(FORMS) as LibraryEntry[]).map((entry) => {
    const { flag, body } = FORMS[entry];
    const flags = flag === undefined ? '' : `, flags={'${flag}'}`;
    return `redis.register_function{function_name='${functionName(library, entry)}', callback=${body}${flags}}`;
  });
  return [
    `#!lua name=${libraryName(library)}`,
    toChunk(library.modules),
    'local built',
    'local function run(keys, args)',
    '  if not built then built = build() end',
    '  return built(keys, args)',
    'end',
    LACKING,
    ...functions,
  ].join('\n');
}

/**
 * One transition as a script, for a Redis without functions. A script is evaluated completely at
 * each call, so it contains only what the transition needs.
 */
export function scriptForm(library: Library, entry: LibraryEntry, transition: string): string {
  const { flag } = FORMS[entry];
  const head = flag === undefined ? '' : `#!lua flags=${flag}\n`;
  if (entry === 'rights') return `${head}${LACKING}\nreturn lacking(KEYS, ARGV)`;
  return `${head}${toChunk(modulesFor(library, transition))}\nreturn build()(KEYS, ARGV)`;
}

/** Lua code that defines `build`, which returns the function that runs transitions. */
function toChunk(modules: readonly LibraryModule[]): string {
  const code = modules.map((module) => module.code);
  return [LIBRARY_PROLOGUE, ...code, LIBRARY_EPILOGUE].join('\n');
}

/** The modules that one transition needs; other transitions become empty tables. */
function modulesFor({ modules }: Library, transition: string): LibraryModule[] {
  const own = transition.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const entry = modules.at(-1);
  const needed = new Set([entry?.name, own]);
  const isOther = (name: string): boolean => name !== own && !/^(lib\/|lualib)/.test(name);
  // Modules come after those that they use, so the list is walked backwards.
  for (const { name, uses } of modules.toReversed()) {
    if (needed.has(name)) for (const used of uses) if (!isOther(used)) needed.add(used);
  }
  return modules.flatMap((module) => {
    if (needed.has(module.name)) return module;
    return isOther(module.name) ? { ...module, code: `${module.variable} = {}` } : [];
  });
}

/**
 * Arguments: commands with their arguments, as JSON. Returns the positions of those that the user
 * lacks.
 */
const LACKING = `local function lacking(keys, args)
  local found = {}
  for n, command in ipairs(args) do
    local known, allowed = pcall(redis.acl_check_cmd, unpack(cjson.decode(command)))
    if not known or not allowed then found[#found + 1] = n end
  end
  return found
end`;
