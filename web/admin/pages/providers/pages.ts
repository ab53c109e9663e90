export { ProviderView } from './provider.page.tsx';
export { Providers } from './providers.page.tsx';
