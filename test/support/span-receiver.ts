import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { listen } from './listen.js';

export interface ReceivedSpan {
  name: string;
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for the root span of a trace. */
  parentSpanId: string;
  kind: number;
  /** ms since the epoch. */
  start: number;
  end: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
}

export interface SpanReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** All trace bodies, unparsed. */
  body: () => string;
  /** Bodies of metrics. They are protobuf, in which texts are readable. */
  metrics: () => string;
  close: () => Promise<void>;
}

interface OtlpValue {
  stringValue?: string;
  intValue?: string | number;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values?: OtlpValue[] };
}
type OtlpAttributes = { key: string; value: OtlpValue }[];
interface OtlpSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: OtlpAttributes;
  links?: { traceId: string; spanId: string }[];
  status?: { code?: number };
}
interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: OtlpAttributes };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

export async function startSpanReceiver(): Promise<SpanReceiver> {
  const spans: ReceivedSpan[] = [];
  let body = '';
  let metrics = '';
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      if (request.url === '/v1/metrics') {
        metrics += text;
        response.end();
        return;
      }
      body += text;
      spans.push(...toSpans(JSON.parse(text) as OtlpRequest));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  const { url, close } = await listen(server);
  return { url, spans, body: () => body, metrics: () => metrics, close };
}

function toSpans({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toAttributes(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(span, service)));
  });
}

function toSpan(span: OtlpSpan, service: string): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId = '', kind, links = [] } = span;
  return {
    name,
    service,
    traceId,
    spanId,
    parentSpanId,
    kind,
    links,
    start: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
    end: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
    attributes: toAttributes(span.attributes ?? []),
    isError: span.status?.code === 2,
  };
}

function toAttributes(all: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(all.map(({ key, value }) => [key, toValue(value)]));
}

function toValue(value: OtlpValue): unknown {
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(toValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
