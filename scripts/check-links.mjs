// `npm run links`: checks every link between the project's documents, and every document named in a comment.
// Takes another project's folder as an argument.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { isMain, projectRoot, runMain } from './system/project.mjs';

const NOT_OURS = new Set(['.git', '.data', 'node_modules', 'dist', 'coverage']);
/** Start of a comment, by file type. */
const COMMENTS = {
  ...Object.fromEntries(
    ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.css'].map((kind) => [kind, /(?:\/\/|\*)\s.*$/]),
  ),
  '.yml': /#\s.*$/,
};
/** A document named in a comment, but not as part of a URL. */
const DOCUMENT = /(?<![\w./:-])([\w.-]+(?:\/[\w.-]+)*\.md)(?:#([\w-]+))?/g;

/**
 * Finds broken links in Markdown files and broken document names in comments: `{ checked, broken: [{ file,
 * line, target, why }] }`, files relative to the root.
 */
function findBrokenLinks(root) {
  const anchors = new Map();
  const references = filesIn(root).flatMap((file) =>
    extname(file) === '.md' ? linksOf(file) : namesOf(file),
  );
  const broken = references.flatMap((reference) => {
    const why = faultOf(reference);
    if (why === undefined) return [];
    const { file, number, target } = reference;
    return [{ file: relative(root, file), line: number, target, why }];
  });
  return { checked: references.length, broken };

  function linksOf(file) {
    return linksIn(readFileSync(file, 'utf8'))
      .filter(({ target }) => !/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target))
      .map(({ number, target }) => {
        const [path, anchor] = target.split('#');
        const name = decode(path.replace(/\?.*$/, ''));
        const places = name.startsWith('/') ? [join(root, name)] : [resolve(dirname(file), name)];
        return { file, number, target, anchor, places: name === '' ? [file] : places };
      });
  }

  function namesOf(file) {
    const comment = COMMENTS[extname(file)];
    const lines = readFileSync(file, 'utf8').split('\n').entries();
    return [...lines].flatMap(([at, line]) =>
      [...(comment.exec(line)?.[0] ?? '').matchAll(DOCUMENT)].map(([target, path, anchor]) => {
        const places = [join(root, path), resolve(dirname(file), path)];
        return { file, number: at + 1, target, anchor, places };
      }),
    );
  }

  function faultOf({ anchor, places }) {
    const place = places.find((path) => existsSync(path));
    if (place === undefined) return 'there is no such file';
    if (!anchor || extname(place) !== '.md') return undefined;
    if (!anchors.has(place)) anchors.set(place, anchorsIn(readFileSync(place, 'utf8')));
    return anchors.get(place).has(decode(anchor)) ? undefined : 'there is no such heading';
  }
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    const kind = extname(entry.name);
    return entry.isFile() && (kind === '.md' || kind in COMMENTS) ? [path] : [];
  });
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign is literal.
    return text;
  }
}

/** The link check reads ATX headings, inline links and link definitions. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;

const INLINE_LINK = /\]\(\s*(?:<([^>]*)>|([^\s)]+))(?:\s+["'(][^)]*)?\s*\)/g;

const DEFINITION = /^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?/g;

const HTML_LINK = /<a\s[^>]*href="([^"]*)"/g;

const HTML_ANCHOR = /<a\s[^>]*(?:id|name)="([^"]*)"/g;

/** Returns the lines outside of code, with their numbers from 1. */
function proseLines(text) {
  const lines = [];
  let fence;
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined && mark === undefined) lines.push({ number: at + 1, line });
    else if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
  }
  return lines;
}

/** Returns the targets of all links with their lines. */
function linksIn(text) {
  return proseLines(text).flatMap(({ number, line }) => {
    const visible = line.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
    return [INLINE_LINK, DEFINITION, HTML_LINK].flatMap((pattern) =>
      [...visible.matchAll(pattern)].map((match) => ({ number, target: match[1] ?? match[2] })),
    );
  });
}

/** Returns the valid anchors of a document: GitHub's heading slugs and explicit anchors. */
export function anchorsIn(text) {
  const anchors = new Set();
  for (const { line } of proseLines(text)) {
    for (const match of line.matchAll(HTML_ANCHOR)) anchors.add(match[1]);
    const heading = HEADING.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = toSlug(heading);
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Applies GitHub's rule: lower case, no punctuation, a hyphen for each space. */
function toSlug(heading) {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]*>/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    const { checked, broken } = findBrokenLinks(process.argv[2] ?? projectRoot);
    for (const { file, line, target, why } of broken) {
      process.stdout.write(`${file}:${line}: ${target}: ${why}\n`);
    }
    process.stdout.write(`links: ${checked} checked, ${broken.length} broken\n`);
    if (broken.length > 0) process.exitCode = 1;
  });
}
