/** A workflow of a worker that knows no agents. */
export function greet(name: string): Promise<string> {
  return Promise.resolve(`hello ${name}`);
}

/** Temporal's fallback for types that are not exported by name. */
// oxlint-disable-next-line import/no-default-export -- Temporal looks it up as the default export.
export default function anyOther(): Promise<string> {
  return Promise.resolve('another type');
}
