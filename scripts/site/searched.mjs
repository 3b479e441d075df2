/** For contributors, and long: their words would stand before what readers look for, and in each reader's index. */
const LEFT_OUT = /^(changelog|docs\/decisions\/(?!README))/;
const FENCED = /^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1[^\n]*$/gm;

/** What the search of the site knows of a page: nothing of some, and of the reference no declarations. Pure. */
export function toSearched(text, page) {
  if (LEFT_OUT.test(page)) return '';
  return page.startsWith('reference/') ? text.replace(FENCED, '') : text;
}
