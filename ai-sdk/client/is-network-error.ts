/**
 * True for what `fetch` and its bodies throw when a connection fails. By name: an error of another
 * realm, a frame's or a test runner's, is an instance of nothing that is known here.
 */
export function isNetworkError(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'name' in error && error.name === 'TypeError'
  );
}
