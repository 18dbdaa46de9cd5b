// Names for types of the API.
import { Operations } from './types';

type Output<N extends keyof Operations> = Operations[N]['output'];

/** RowOf is an entry of a list in the output of an operation. */
export type RowOf<N extends keyof Operations, L extends keyof Output<N>> =
  NonNullable<Output<N>[L]> extends (infer R)[] ? R : never;

/** Configuring are the operations that answer SUCCESS or FAILURE. */
export type Configuring = {
  [N in keyof Operations]: 'configure-result' extends keyof Output<N> ? N : never;
}[keyof Operations];

/** InputOf is the input of an operation. */
export type InputOf<N extends keyof Operations> = NonNullable<Operations[N]['input']>;
