import { z } from 'zod';
import { OPEN_API } from './all-routes.js';
import type { Route } from '../../api/routes/route.js';

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

// Clients read the schema without ours, and with definitions where JSON Schema has them.
const text = JSON.stringify(OPEN_API).replaceAll('#/components/schemas/', '#/$defs/');
const document = JSON.parse(text) as Described;
const made = new Map<string, z.ZodType>();

/**
 * Returns the schema that the served document gives for a route's JSON reply with a status.
 *
 * @throws Error if the document describes no such reply
 */
export function describedBody({ method, path, id }: Route, status: number): z.ZodType {
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
