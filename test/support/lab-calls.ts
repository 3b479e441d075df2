/** A call, in a script for the lab agent, that a person has to approve. */
export function charge(id: string, amount = 5): object {
  return { tool: 'charge', id, args: { amount } };
}

/** A call that a sub-agent carries out, by a script of its own. */
export function delegate(id: string, ...script: object[]): object {
  return { tool: 'delegate', id, args: { script } };
}
