/** A URL with a path added before its query. */
export function addPath(url: string, path: string): string {
  const at = url.search(/[?#]/);
  const base = at < 0 ? url : url.slice(0, at);
  return `${base.replace(/\/$/, '')}${path}${at < 0 ? '' : url.slice(at)}`;
}

/** The URL of a session, from the one at which its stream is followed. */
export function sessionUrlOf(streamUrl: string): string {
  const at = streamUrl.search(/[?#]/);
  const base = at < 0 ? streamUrl : streamUrl.slice(0, at);
  return `${base.replace(/\/stream$/, '')}${at < 0 ? '' : streamUrl.slice(at)}`;
}
