const LINKS: ReadonlySet<string> = new Set(['http:', 'https:']);
const FILES: ReadonlySet<string> = new Set([...LINKS, 'data:']);

/**
 * True for a URL that a page may link to, or show as a file. `javascript:` and similar schemes
 * would run in the page, and a path would refer to the page's own server.
 */
export function isShownUrl(type: 'source_url' | 'file', url: string): boolean {
  if (!URL.canParse(url)) return false;
  return (type === 'file' ? FILES : LINKS).has(new URL(url).protocol);
}
