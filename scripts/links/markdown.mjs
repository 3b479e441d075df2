/** What the link check knows of Markdown: ATX headings, inline links and link definitions. Pure. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const INLINE_LINK = /\]\(\s*(?:<([^>]*)>|([^\s)]+))(?:\s+["'(][^)]*)?\s*\)/g;
const DEFINITION = /^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?/g;
const HTML_LINK = /<a\s[^>]*href="([^"]*)"/g;
const HTML_ANCHOR = /<a\s[^>]*(?:id|name)="([^"]*)"/g;

/** Lines that are not code, with their numbers from 1. */
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

/** Targets of all links, with the line that they stand on. */
export function linksIn(text) {
  return proseLines(text).flatMap(({ number, line }) => {
    const visible = line.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
    return [INLINE_LINK, DEFINITION, HTML_LINK].flatMap((pattern) =>
      [...visible.matchAll(pattern)].map((match) => ({ number, target: match[1] ?? match[2] })),
    );
  });
}

/** What a link may name after `#`: the headings as GitHub writes them, and explicit anchors. */
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

/** GitHub's rule: the visible text in lower case, without punctuation, a hyphen for each space. */
export function toSlug(heading) {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]*>/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
