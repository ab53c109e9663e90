import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AdminConfig } from '../config.ts';

const ConfigContext = createContext<AdminConfig | undefined>(undefined);
export const ConfigProvider = ConfigContext.Provider;

export function useConfig(): AdminConfig {
  const config = useContext(ConfigContext);
  if (config === undefined) throw new Error('no configuration around this component');
  return config;
}
