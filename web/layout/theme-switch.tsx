import { Monitor, Moon, Sun } from 'lucide-react';
import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';
import { themeChoice, THEMES, useTheme } from '../theme.ts';

const ICONS = { system: Monitor, light: Sun, dark: Moon } as const;

/** System, light or dark. */
export function ThemeSwitch(): JSX.Element {
  const chosen = useTheme();
  return (
    <div role="group" aria-label={t.theme} className="inline-flex shrink-0 rounded-md border border-line bg-sunken p-0.5">
      {THEMES.map((theme) => {
        const Icon = ICONS[theme];
        return (
          <button
            key={theme}
            type="button"
            aria-label={t.themes[theme]}
            title={t.themes[theme]}
            aria-pressed={theme === chosen}
            onClick={() => themeChoice.set(theme)}
            className="rounded-[4px] p-1.5 text-muted hover:text-ink aria-pressed:bg-raised aria-pressed:text-ink aria-pressed:shadow-raised"
          >
            <Icon aria-hidden="true" className="size-3.5" />
          </button>
        );
      })}
    </div>
  );
}
