import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';

/** Documents outside docs/, by the page that they become. */
const OTHERS = {
  'README.md': 'index.md',
  'PROTOCOL.md': 'protocol.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security.md',
};
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LINK = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(\s*([^)\s]+)\s*\)/g;

/** The documents of a project as pages: their files from the root, by the page's file. */
export function documentsOf(root) {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  return new Map([
    ...Object.entries(OTHERS).map(([file, page]) => [page, file]),
    ...docs.sort().map((file) => [file, file]),
  ]);
}

/** All pages that are documents, by the page's file. */
export function pagesOf(root) {
  const documents = documentsOf(root);
  const pageOf = new Map([...documents].map(([page, file]) => [file, page]));
  return new Map(
    [...documents].map(([page, file]) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [page, toPage(text, { file, page, pageOf })];
    }),
  );
}

/**
 * A document as a page: links between documents lead from page to page, links to sources are their
 * text alone, and braces are text. Pure.
 */
export function toPage(text, { file, page, pageOf }) {
  let fence;
  return text
    .split('\n')
    .map((line) => {
      const mark = FENCE.exec(line)?.[1];
      if (fence !== undefined) {
        if (mark?.startsWith(fence)) fence = undefined;
        return line;
      }
      fence = mark;
      return mark === undefined ? toLine(line, { file, page, pageOf }) : line;
    })
    .join('\n');
}

function toLine(line, of) {
  return line
    .replace(LINK, (whole, image, label, target) => toLink(whole, { image, label, target }, of))
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll('{{', '&#123;&#123;')))
    .join('');
}

function toLink(whole, { image, label, target }, { file, page, pageOf }) {
  if (/^([a-z][a-z0-9+.-]*:|#|\/\/)/i.test(target)) return whole;
  const [path, anchor] = target.split('#');
  const document = posix.normalize(posix.join(posix.dirname(file), path));
  const found = pageOf.get(document);
  const isMedia = document.startsWith('docs/media/');
  if (found === undefined && !isMedia) return label;
  const to = posix.relative(dirname(page), found ?? document);
  const place = to.startsWith('.') ? to : `./${to}`;
  return `${image}[${label}](${place}${anchor === undefined ? '' : `#${anchor}`})`;
}
