import { chainAudit } from './chain-audit.js';
import { fold } from './fold.js';
import { forgetUsage } from './forget-usage.js';
import { cjson } from './lib/host.js';
import { ownerAt, type Owner } from './lib/owner.js';
import { noteDue } from './note-due.js';
import { noteRefusals } from './note-refusals.js';
import { passAudit } from './pass-audit.js';
import { putDue } from './put-due.js';
import { release } from './release.js';
import { reserve } from './reserve.js';
import { takeDue } from './take-due.js';
import { trimAudit } from './trim-audit.js';

/** Transitions of an owner's figures; they work on the slot of the owner. */
const OWNER_TRANSITIONS = { reserve, release, fold, forgetUsage };

type OwnerTransitions = typeof OWNER_TRANSITIONS;
export type OwnerTransitionName = keyof OwnerTransitions;
export type OwnerRequestOf<Name extends OwnerTransitionName> = Parameters<
  OwnerTransitions[Name]
>[1];

type OwnerTransition = (owner: Owner, request: unknown, title: string) => unknown;

/** Runs a transition of an index in a slot of its own. Arguments: its name, then its own. */
export function run(keys: readonly string[], args: readonly string[]): unknown {
  const name = args[0] as string;
  if (name === 'noteDue') return noteDue(keys, args);
  if (name === 'takeDue') return takeDue(keys, args);
  if (name === 'putDue') return putDue(keys, args);
  const ofOwner = (OWNER_TRANSITIONS as Record<string, OwnerTransition | undefined>)[name];
  if (ofOwner !== undefined) return runOfOwner(ofOwner, keys, args);
  if (name === 'chainAudit') return chainAudit(keys, args);
  if (name === 'passAudit') return passAudit(keys, args);
  if (name === 'noteRefusals') return noteRefusals(keys, args);
  return name === 'trimAudit' ? trimAudit(keys, args) : undefined;
}

/**
 * Keys: the holds of the slot. Arguments: name, the user as in keys, the request as JSON, a title
 * or ''.
 */
function runOfOwner(
  transition: OwnerTransition,
  keys: readonly string[],
  args: readonly string[],
): unknown {
  const base = (keys[0] as string).slice(0, -'holds'.length);
  const owner = ownerAt(base, args[1] as string);
  return transition(owner, cjson.decode(args[2] as string), args[3] as string);
}
