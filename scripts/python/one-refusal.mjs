// The OpenAPI document as a generator of clients wants it.

const REFUSAL = {
  type: 'object',
  properties: { error: { type: 'string' }, code: { type: 'string' }, detail: {} },
  required: ['error', 'code'],
};

/**
 * A copy in which all refusals are one schema, `RefusalBody`, whose code may be any: as the server describes them, each
 * status of each route has a class of its own in the client, a thousand in all, and a code that a later
 * server adds could not be read.
 */
export function withOneRefusal(document) {
  const { paths, components, ...rest } = JSON.parse(JSON.stringify(document));
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const { responses } of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      const schema = content?.['application/json']?.schema;
      // Those of OpenAI's protocol have another form.
      if (Number(status) < 400 || schema?.properties?.code === undefined) continue;
      content['application/json'] = { schema: { $ref: '#/components/schemas/RefusalBody' } };
    }
  }
  const schemas = { ...components.schemas, RefusalBody: REFUSAL };
  return { ...rest, paths, components: { ...components, schemas } };
}
