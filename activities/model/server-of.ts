/** Host and port that a model of the AI SDK calls; its interface does not name them, so not all do. */
export function serverOf(model: object): { address: string; port: number } | undefined {
  const { config } = model as { config?: { baseURL?: unknown; url?: unknown } };
  if (typeof config !== 'object') return undefined;
  try {
    const { hostname, port, protocol } = new URL(addressIn(config, model));
    return {
      address: hostname,
      port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    };
  } catch {
    return undefined;
  }
}

type ToUrl = (of: { path: string; modelId: string | undefined }) => unknown;

function addressIn({ baseURL, url }: { baseURL?: unknown; url?: unknown }, model: object): string {
  if (typeof baseURL === 'string') return baseURL;
  if (typeof url !== 'function') return '';
  const { modelId } = model as { modelId?: string };
  return String((url as ToUrl)({ path: '/', modelId }));
}
