import { Link } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import {
  Activity,
  Bell,
  BookOpen,
  ChartColumn,
  CreditCard,
  House,
  KeyRound,
  Layers,
  ListTree,
  MessageSquareText,
  Rocket,
  Settings,
  Tags,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';

interface Place {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
  readonly Icon: LucideIcon;
}

const GROUPS: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  {
    title: t.groups.use,
    places: [
      { to: '/start', label: t.nav.start, Icon: Rocket },
      { to: '/overview', label: t.nav.overview, Icon: House },
      { to: '/keys', label: t.nav.keys, Icon: KeyRound },
      { to: '/usage', label: t.nav.usage, Icon: ChartColumn },
      { to: '/requests', label: t.nav.requests, Icon: ListTree },
      { to: '/playground', label: t.nav.playground, Icon: MessageSquareText },
    ],
  },
  {
    title: t.groups.pay,
    places: [
      { to: '/billing', label: t.nav.billing, Icon: CreditCard },
      { to: '/plans', label: t.nav.plans, Icon: Layers },
      { to: '/alerts', label: t.nav.alerts, Icon: Bell },
    ],
  },
  {
    title: t.groups.more,
    places: [
      { to: '/models', label: t.nav.models, Icon: Tags },
      { to: '/docs', label: t.nav.docs, Icon: BookOpen },
      { to: '/status', label: t.nav.status, Icon: Activity },
      { to: '/settings', label: t.nav.settings, Icon: Settings },
    ],
  },
];

/** The way to every page of the app. */
export function Navigation({ onFollow }: { readonly onFollow?: () => void }): JSX.Element {
  return (
    <nav aria-label={t.navigation} className="flex flex-col gap-5">
      {GROUPS.map(({ title, places }) => (
        <div key={title}>
          <p className="label-caps mb-1 px-2.5">{title}</p>
          <ul className="flex flex-col gap-px">
            {places.map(({ to, label, Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  onClick={() => onFollow?.()}
                  activeOptions={{ includeSearch: false }}
                  className="flex items-center gap-2.5 rounded-md border border-transparent px-2 py-1.5 text-sm text-muted hover:bg-hover hover:text-ink aria-[current=page]:border-line aria-[current=page]:bg-raised aria-[current=page]:font-medium aria-[current=page]:text-ink aria-[current=page]:[&>svg]:text-accent"
                >
                  <Icon aria-hidden="true" className="size-4 shrink-0" />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
