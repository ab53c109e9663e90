import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AreaConfig } from '../config.ts';

const ConfigContext = createContext<AreaConfig | undefined>(undefined);
export const ConfigProvider = ConfigContext.Provider;

export function useConfig(): AreaConfig {
  const config = useContext(ConfigContext);
  if (config === undefined) throw new Error('no configuration around this component');
  return config;
}

/**
 * @param path within the area, without a leading `/`
 * @returns a function that returns the path of a page of the area
 */
export function usePathTo(): (path: string) => string {
  const { root } = useConfig();
  return (path) => `${root}${path}`;
}
