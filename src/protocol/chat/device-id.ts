const MAX_CHARACTERS = 255;
const CONTROL = /\p{Cc}/u;

/**
 * Returns whether a chat client may use this device ID. It does not have to fit into a scope, since sessions of the
 * compatibility layer have none.
 */
export function isDeviceId(id: string): boolean {
  return id !== '' && [...id].length <= MAX_CHARACTERS && !CONTROL.test(id);
}
