import { createSavedStore, useStore } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** The chosen theme: light, dark, or that of the system. */
export const themeChoice = createSavedStore<Theme>('theme', { fallback: () => 'system', isValid: isTheme });

/** Returns the chosen theme. */
export function useTheme(): Theme {
  return useStore(themeChoice);
}

/** Applies the theme now and whenever it changes. Called before the first paint. */
export function applyTheme(): void {
  const apply = (): void => {
    const theme = themeChoice.get();
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[data-scheme]')) meta.media = mediaOf(meta.dataset['scheme'], theme);
  };
  apply();
  themeChoice.subscribe(apply);
}

/** Tells the browser whether to colour its own bars for a scheme. */
function mediaOf(scheme: string | undefined, theme: Theme): string {
  if (theme === 'system') return `(prefers-color-scheme: ${scheme})`;
  return scheme === theme ? 'all' : 'not all';
}

function isTheme(text: string): text is Theme {
  return THEMES.some((theme) => theme === text);
}
