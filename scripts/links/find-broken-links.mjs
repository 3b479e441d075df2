import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { anchorsIn, linksIn } from './markdown.mjs';

const NOT_OURS = new Set(['.git', '.data', 'node_modules', 'dist', 'coverage']);
/** Where a comment begins, by kind of source. */
const COMMENTS = {
  ...Object.fromEntries(
    ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.css'].map((kind) => [kind, /(?:\/\/|\*)\s.*$/]),
  ),
  '.lua': /--.*$/,
  '.yml': /#\s.*$/,
};
/** A document that a comment names, not as part of a URL. */
const DOCUMENT = /(?<![\w./:-])([\w.-]+(?:\/[\w.-]+)*\.md)(?:#([\w-]+))?/g;

/**
 * Links of a project's Markdown files, and names of documents in comments of its sources, that lead
 * nowhere: `{ checked, broken: [{ file, line, target, why }] }`, files relative to the root.
 */
export function findBrokenLinks(root) {
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
    // A stray percent sign stands for itself.
    return text;
  }
}
