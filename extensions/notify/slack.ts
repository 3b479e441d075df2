import { toFacts, toHeadline, toItemText, type Message } from './message.js';
import { toPlace } from './place.js';
import { post } from './post.js';
import type { Receiver } from './receivers.js';

/** Slack refuses blocks with longer texts. */
const MOST_TEXT = 3_000;

type SlackReceiver = Extract<Receiver, { kind: 'slack' }>;

/** Sends a notice to a Slack channel by an incoming webhook. @throws NotDelivered */
export async function sendSlack(
  { url, privateNetwork }: SlackReceiver,
  message: Message,
  signal?: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(toSlackMessage(message));
  await post(url, { headers: {}, body, privateNetwork, signal });
}

/** Returns a Block Kit message whose buttons are links, so Slack itself never decides a call. Pure. */
export function toSlackMessage(message: Message): object {
  const headline = escaped(toHeadline(message));
  const facts = toFacts(message).map(([name, value]) => `*${name}* ${escaped(value)}`);
  const items = (message.items ?? []).map((item) => ({
    ...section(escaped(toItemText(item))),
    ...(item.decideUrl !== undefined && { accessory: button('Decide', item.decideUrl, 'primary') }),
  }));
  const buttons = [
    ...(message.decideUrl === undefined ? [] : [button('Decide', message.decideUrl, 'primary')]),
    ...(message.url === undefined
      ? []
      : [button(`Open ${toPlace(message.notice).title.toLowerCase()}`, message.url)]),
  ];
  return {
    text: headline,
    unfurl_links: false,
    blocks: [
      section(`*${headline}*`),
      ...(facts.length === 0 ? [] : [section(facts.join('\n'))]),
      ...items,
      ...(buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }]),
    ],
  };
}

/** Returns a verbatim section: Slack turns no text into links or mentions. */
function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text: shortened(text), verbatim: true } };
}

/** Shortens an escaped text without leaving half an escape sequence or half a character. */
function shortened(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  const kept = text.slice(0, MOST_TEXT - 2).replace(/(?:&[a-z]*|[\ud800-\udbff])$/, '');
  return `${kept} …`;
}

function button(text: string, url: string, style?: 'primary'): object {
  return { type: 'button', text: { type: 'plain_text', text }, url, ...(style && { style }) };
}

/** Escapes text of models and tools, which must not mention channels or disguise links. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[*_~`]/g, (mark) => `\u200b${mark}`);
}
