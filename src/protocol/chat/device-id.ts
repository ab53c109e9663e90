const MAX_CHARACTERS = 255;
const CONTROL = /\p{Cc}/u;

/** What a chat client may call its device. It need not fit into a scope: sessions of the compatibility layer have none. */
export function isDeviceId(id: string): boolean {
  return id !== '' && [...id].length <= MAX_CHARACTERS && !CONTROL.test(id);
}
