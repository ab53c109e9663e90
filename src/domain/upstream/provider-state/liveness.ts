/**
 * Returns an SQL condition: the provider is configured and enabled. In its own folder, because modules that the rest of
 * this module builds on use it too.
 * @param provider alias of `upstream_providers`
 */
export function providerIsEnabled(provider: string): string {
  return `${provider}.disabled_at is null`;
}
