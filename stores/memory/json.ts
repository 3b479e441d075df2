import { toStoredJson } from '../record/to-stored-json.js';

/**
 * What is stored is JSON text: nobody who handed a value in, or was handed one, can change it, and
 * values come back as they would from Redis.
 */
export type Json<T> = string & { readonly of?: T };

export function toJson<T>(value: T): Json<T> {
  return toStoredJson(value);
}

export function fromJson<T>(json: Json<T>): T {
  return JSON.parse(json) as T;
}
