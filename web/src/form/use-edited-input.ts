import { useState } from 'react';
import type { Shape } from './shape.js';
import { toShape } from './to-shape.js';

export interface EditedInput {
  shape: Shape;
  value: unknown;
  /** The input with the person's changes; undefined if nothing is changed. */
  edited: Record<string, unknown> | undefined;
  onChange: (value: unknown) => void;
}

/** The input of a call while a person changes it. */
export function useEditedInput(schema: unknown, input: unknown): EditedInput {
  const [changed, setChanged] = useState<{ value: unknown }>();
  const value = changed === undefined ? input : changed.value;
  const isChanged = JSON.stringify(value) !== JSON.stringify(input);
  return {
    // By what the agent asked for: a form does not change under the hands that fill it in.
    shape: toShape(schema, input),
    value,
    // Inputs are objects; the server refuses what is no object, also one that was removed.
    edited: isChanged ? ((value ?? null) as Record<string, unknown>) : undefined,
    onChange: (next) => {
      setChanged({ value: next });
    },
  };
}
