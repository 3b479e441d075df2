/** What cjson.decode() makes of null: a value of its own, because nil would leave the field out. */
export const CJSON_NULL: unique symbol = Symbol('cjson.null');
