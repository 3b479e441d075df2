import type { Connection } from '@temporalio/client';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
  type SearchAttributePair,
} from '@temporalio/common';
import type { RunInput } from '../protocol/run.js';
import { SEARCH_ATTRIBUTES } from '../protocol/temporal.js';

export const INDEXED_VALUE_TYPE = { KEYWORD: 2, INT: 3 } as const;

/**
 * Creates the header by which Temporal Cloud finds the namespace of a call. The SDK adds it only to
 * calls of the workflow service.
 */
export function routeTo(namespace: string): Record<string, string> {
  return { 'temporal-namespace': namespace };
}

/**
 * Registers the runs' search attributes where they are missing.
 *
 * @param logger is warned with the commands by which an operator registers them
 * @returns false if the server lacks some and refuses to add them, or has one of another type: runs
 * start without them
 */
export async function registerSearchAttributes(
  connection: Pick<Connection, 'withDeadline' | 'withMetadata' | 'operatorService'>,
  namespace: string,
  logger?: { warn: (fields: object, message: string) => void },
): Promise<boolean> {
  try {
    const ask = <T>(call: () => Promise<T>): Promise<T> =>
      connection.withDeadline(Date.now() + 5_000, () =>
        connection.withMetadata(routeTo(namespace), call),
      );
    const present = await ask(() => connection.operatorService.listSearchAttributes({ namespace }));
    const entries = Object.entries(SEARCH_ATTRIBUTES);
    const isOther = ([name, type]: (typeof entries)[number]): boolean => {
      const known: number | undefined = present.customAttributes[name];
      return known !== undefined && known !== INDEXED_VALUE_TYPE[type];
    };
    const others = entries.filter(isOther).map(([name]) => name);
    if (others.length > 0) {
      logger?.warn(
        { namespace, attributes: others },
        'runs have no search attributes: the namespace has some of these names with another type',
      );
      return false;
    }
    const missing = entries.filter(([name]) => present.customAttributes[name] === undefined);
    if (missing.length === 0) return true;
    await ask(() =>
      connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(
          missing.map(([name, type]) => [name, INDEXED_VALUE_TYPE[type]]),
        ),
      }),
    );
    return true;
  } catch (error) {
    // The server may not permit or offer this; runs start without search attributes then.
    logger?.warn(
      { err: error, commands: registrationCommands(namespace) },
      'runs have no search attributes: the server did not register them; these commands do',
    );
    return false;
  }
}

/** The lines of Temporal's command line that register the attributes, as Temporal Cloud demands. */
export function registrationCommands(namespace: string): string[] {
  const types = { KEYWORD: 'Keyword', INT: 'Int' };
  return Object.entries(SEARCH_ATTRIBUTES).map(
    ([name, type]) =>
      `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${types[type]}`,
  );
}

export interface RunLabels {
  tenant?: string;
  details: string;
}

/** The search attributes of a run in the Temporal UI. */
export function toAttributes(input: RunInput, { tenant }: RunLabels): TypedSearchAttributes {
  const values: Record<keyof typeof SEARCH_ATTRIBUTES, string | number | undefined> = {
    AgentSession: input.sessionId,
    AgentName: input.agent,
    AgentStatus: input.startAt === undefined ? 'running' : 'starting',
    AgentTenant: tenant,
    AgentModel: input.model,
    AgentTurn: input.turn,
  };
  const pairs = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => {
    const value = values[name as keyof typeof values];
    const key = defineSearchAttributeKey(name, SearchAttributeType[type]);
    return value === undefined ? [] : [{ key, value } as SearchAttributePair];
  });
  return new TypedSearchAttributes(pairs);
}
