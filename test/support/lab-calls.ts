/** Returns a script entry for a call that a person has to approve. */
export function charge(id: string, amount = 5): object {
  return { tool: 'charge', id, args: { amount } };
}

/** Returns a script entry for a call that a sub-agent executes with its own script. */
export function delegate(id: string, ...script: object[]): object {
  return { tool: 'delegate', id, args: { script } };
}
