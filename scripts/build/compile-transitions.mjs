// The transitions of the record, from TypeScript to the one Lua library that runs inside Redis.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../system/user-error.mjs';
import { fingerprint, listFiles } from './sources.mjs';
import { readStamp, writeAtomically, writeStamp } from './stamp.mjs';

const PART = 'transitions';
const FOLDER = 'stores/transitions';
const ENTRY = 'library';
/** Redis itself is the host there. */
const HOST = 'lib/host';
/** Imported by the Redis store; made before the sources are transformed. */
const OUTPUT = 'stores/redis/generated/library.ts';

/** Returns whether a library was made. */
export async function compileTransitions(root, dist, toolVersions) {
  const files = listFiles(root, FOLDER).filter((file) => file.endsWith('.ts'));
  if (files.length === 0) return false;
  // What this file makes of the same sources changes with it.
  const self = readFileSync(fileURLToPath(import.meta.url), 'utf8');
  const made = fingerprint(root, files, toolVersions, self);
  if (readStamp(dist, PART) === made && existsSync(join(root, OUTPUT))) return false;
  const modules = bundle(await transpile(root, files));
  const lua = toChunk(modules);
  const hash = createHash('sha256').update(lua).digest('hex').slice(0, 12);
  const lines = [
    '// Made by the build from stores/transitions.',
    `export const LIBRARY_HASH = '${hash}';`,
    `export const LIBRARY_PROLOGUE = ${JSON.stringify(PROLOGUE)};`,
    `export const LIBRARY_MODULES = ${JSON.stringify(modules)};`,
    `export const LIBRARY_EPILOGUE = ${JSON.stringify(EPILOGUE)};`,
  ];
  writeAtomically(join(root, OUTPUT), `${lines.join('\n')}\n`);
  // For people who look up a line of an error.
  writeAtomically(join(dist, FOLDER, 'library.lua'), lua);
  writeStamp(dist, PART, made);
  return true;
}

/** Lua text by module; the modules that others use come with them. */
async function transpile(root, files) {
  // Loaded only here: a start with nothing to build should not pay for it.
  const [tstl, { default: ts }] = await Promise.all([
    import('typescript-to-lua'),
    import('typescript'),
  ]);
  // Lua joins a chain of texts at once; in groups each pair would become a text of its own.
  tstl.LuaPrinter.rightAssociativeOperators.delete(tstl.SyntaxKind.ConcatOperator);
  const modules = new Map();
  const { diagnostics } = tstl.transpileFiles(
    files.map((file) => join(root, file)),
    {
      luaTarget: tstl.LuaTarget.Lua51,
      luaLibImport: tstl.LuaLibImportKind.RequireMinimal,
      noImplicitSelf: true,
      noHeader: true,
      // A comment neither changes the library's hash nor takes memory in Redis.
      removeComments: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ['lib.es2023.d.ts'],
      types: [],
      strict: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      rootDir: join(root, FOLDER),
      outDir: join(root, FOLDER),
    },
    (path, text) => {
      const name = relative(join(root, FOLDER), path).split(sep).join('/');
      modules.set(name.replace(/\.lua$/, ''), text);
    },
  );
  // The compiler looks for other modules as Lua files; `bundle` resolves them itself.
  const faults = diagnostics.filter(
    ({ category, messageText }) =>
      category === ts.DiagnosticCategory.Error &&
      !String(messageText).startsWith('Could not resolve lua source files'),
  );
  if (faults.length > 0) throw new UserError(describe(ts, root, faults));
  return modules;
}

function describe(ts, root, faults) {
  return faults
    .map(({ file, start, messageText }) => {
      const text = ts.flattenDiagnosticMessageText(messageText, '\n');
      if (file === undefined) return text;
      const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
      return `${relative(root, file.fileName)}:${line + 1} ${text}`;
    })
    .join('\n');
}

/** Redis' own names mean themselves. */
const HOSTED = /^local (redis|cjson) = ____\S*host\S*\.\1$/;
const REQUIRE = /^local (\S+) = require\("([^"]+)"\)$/;

/** A loop over a list calls a function for each item, a counted one does not. */
const EACH = /^(\s*)for ____, (\w+) in ipairs\((\w+(?:\.\w+)*)\) do$/;
function counted(_line, indent, item, list) {
  return `${indent}for ____at = 1, #${list} do local ${item} = ${list}[____at]`;
}

/** In the order of use: each module a function that returns what it exports, under its variable. */
function bundle(modules) {
  const done = new Map();
  const parts = [];
  const add = (name) => {
    if (done.has(name)) return done.get(name);
    const variable = `M.m_${name.replace(/[^A-Za-z0-9]/g, '_')}`;
    done.set(name, variable);
    const text = modules.get(name);
    if (text === undefined) throw new Error(`transitions have no module ${name}`);
    const uses = [];
    const lines = text.split('\n').flatMap((line) => {
      if (HOSTED.test(line)) return [];
      const [, local, path] = REQUIRE.exec(line) ?? [];
      if (local === undefined) return [line.replace(EACH, counted)];
      const used = moduleOf(path);
      if (used === HOST) return [`local ${local} = HOST`];
      uses.push(used);
      return [`local ${local} = ${add(used)}`];
    });
    const code = `${variable} = (function()\n${lines.join('\n')}\nend)()`;
    parts.push({ name, variable, uses, code });
    return variable;
  };
  add(ENTRY);
  return parts;
}

/** One chunk that makes the function which runs transitions. */
function toChunk(modules) {
  const parts = modules.map(({ name, code }) => `-- ${name}\n${code}`);
  return [PROLOGUE, ...parts, EPILOGUE].join('\n');
}

/** The compiler writes paths from the folder on, with dots. */
function moduleOf(path) {
  return path.replace(/\.js$/, '').replaceAll('.', '/');
}

/** While a library is loaded Redis lends no names but its own, so it is built at the first call. */
const PROLOGUE = `local function build()
-- A local name is found faster than a global one.
local redis, cjson, string, table, math = redis, cjson, string, table, math
local type, ipairs, pairs, unpack, tonumber, pcall = type, ipairs, pairs, unpack, tonumber, pcall
local format = string.format
local NAMED = {
  __index = function(holder, name)
    local key = holder.base .. name
    holder[name] = key
    return key
  end,
}
local small, last, lastText = {}, nil, nil
local HOST = {
  formatInt = function(value)
    -- The same time is written several times.
    if value == last then return lastText end
    local text = small[value]
    if text then return text end
    text = format('%d', value)
    if value >= 0 and value < 1000 then small[value] = text else last, lastText = value, text end
    return text
  end,
  byteLength = function(text) return #text end,
  toNumber = tonumber,
  withKeys = function(holder) return setmetatable(holder, NAMED) end,
}
local M = {}`;
const EPILOGUE = `return M.m_${ENTRY}.run\nend`;
