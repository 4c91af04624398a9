import { remember, useRemembered } from './remembered.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Light, dark, or as the system has it. */
export const themeChoice = remember<Theme>('theme', { fallback: () => 'system', isValid: isTheme });

/** The chosen theme. */
export function useTheme(): Theme {
  return useRemembered(themeChoice);
}

/** Applies the theme now and whenever it changes. Called before the first paint. */
export function applyTheme(): void {
  const apply = (): void => {
    const theme = themeChoice.get();
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  };
  apply();
  themeChoice.subscribe(apply);
}

function isTheme(text: string): text is Theme {
  return THEMES.some((theme) => theme === text);
}
