// Globals of the prelude, under the names by which libraries import them.
export const AbortController = globalThis.AbortController;
export const AbortSignal = globalThis.AbortSignal;
export default { AbortController, AbortSignal };
