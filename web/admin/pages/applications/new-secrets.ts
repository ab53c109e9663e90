/** Secrets that were just generated, by client, until their page has shown them. Only in the memory of this tab. */
const secrets = new Map<string, string>();

export function keepSecret(id: string, secret: string): void {
  secrets.set(id, secret);
}

export function findSecret(id: string): string | undefined {
  return secrets.get(id);
}

export function dropSecret(id: string): void {
  secrets.delete(id);
}
