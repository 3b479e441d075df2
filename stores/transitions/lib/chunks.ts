import { int, text } from './json.js';
import { num, readField } from './root.js';
import { idOf, type Session } from './session.js';

/**
 * The agent that is named in an entry which the store itself writes: the base fields of the chunk.
 */
export interface Speaker {
  agentId: string;
  agentType: string;
  step: number;
  /** ms since the epoch. */
  now: number;
  /** The base fields as JSON, cached at first use. */
  json?: string;
}

/** A chunk that the store itself writes. @param body its own fields, as JSON without braces */
export function ownChunk(speaker: Speaker, type: string, body: string): string {
  speaker.json ??= baseFields(speaker);
  return `{"type":"${type}",${body},${speaker.json}}`;
}

function baseFields({ agentId, agentType, step, now }: Speaker): string {
  const who = `"agentId":${text(agentId)},"agentType":${text(agentType)}`;
  return `${who},"step":${int(step)},"timestamp":${int(now)}`;
}

/** The session's own agent as a speaker. */
export function speakerOf(
  session: Session,
  agentType: string | undefined,
  committed: string | undefined,
  now: number,
): Speaker {
  return { agentId: idOf(session), agentType: agentType ?? '', step: num(committed), now };
}

/** The conversation's agent as a speaker, at the step that the conversation has reached. */
export function conversationSpeaker(session: Session, agentType: string, now: number): Speaker {
  const { conversation } = session;
  return speakerOf(conversation, agentType, readField(conversation, 'committed'), now);
}
