import { z } from 'zod';
import { readOpenApi } from '../../api/openapi/document.js';
import type { Operation } from '../../api/openapi/operation.js';

interface Described {
  components: { schemas: Record<string, JsonSchema> };
  paths: Record<
    string,
    Record<string, { responses: Partial<Record<string, DescribedReply>> }> | undefined
  >;
}
interface DescribedReply {
  content?: Partial<Record<string, { schema: JsonSchema }>>;
}
type JsonSchema = Extract<Parameters<typeof z.fromJSONSchema>[0], object>;

// As clients read it: no schema of ours, and definitions where JSON Schema has them.
const text = JSON.stringify(readOpenApi()).replaceAll('#/components/schemas/', '#/$defs/');
const document = JSON.parse(text) as Described;
const made = new Map<string, z.ZodType>();

/**
 * What the served document says of the JSON with which an operation replies with a status.
 *
 * @throws Error if it describes no such reply
 */
export function describedBody({ method, path, id }: Operation, status: number): z.ZodType {
  const key = `${id} ${String(status)}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method];
  const schema = operation?.responses[String(status)]?.content?.['application/json']?.schema;
  if (schema === undefined) throw new Error(`${key} is not described as JSON`);
  const type = z.fromJSONSchema({ ...schema, $defs: document.components.schemas });
  made.set(key, type);
  return type;
}
