/**
 * The provider is in the configuration, and switched on there. A condition for statements, in a folder of its own, since
 * modules that the rest of this one builds on ask for it as well.
 * @param provider alias of `upstream_providers`
 */
export function providerIsEnabled(provider: string): string {
  return `${provider}.disabled_at is null`;
}
