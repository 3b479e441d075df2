import { z } from 'zod';

/** A part of a result that a model can be given. */
export type ToolModelContent =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } };

const Data = { data: z.string(), mimeType: z.string() };
const Part = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'audio']), ...Data }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.union([
      z.object({ text: z.string() }),
      z.object({ blob: z.string(), mimeType: z.string().optional() }),
    ]),
  }),
  z.looseObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string().optional(),
  }),
]);
const OTHER: ToolModelContent = { type: 'text', text: '[content that cannot be shown]' };
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A part of a server's result; what has no form of the protocol becomes a remark. Pure. */
export function toContent(part: unknown): ToolModelContent {
  const parsed = Part.safeParse(part);
  if (!parsed.success) return OTHER;
  const { data } = parsed;
  switch (data.type) {
    case 'text':
      return { type: 'text', text: data.text };
    case 'image':
    case 'audio':
      return toFile(data.mimeType, data.data);
    case 'resource':
      return 'text' in data.resource
        ? { type: 'text', text: data.resource.text }
        : toFile(data.resource.mimeType ?? 'application/octet-stream', data.resource.blob);
    case 'resource_link':
      return { type: 'text', text: `${data.name ?? 'resource'}: ${data.uri}` };
  }
}

function toFile(mediaType: string, data: string): ToolModelContent {
  return BASE64.test(data) ? { type: 'file', mediaType, data: { type: 'data', data } } : OTHER;
}
