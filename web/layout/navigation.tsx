import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import {
  Activity,
  ArrowLeft,
  Bell,
  BookOpen,
  ChartColumn,
  CreditCard,
  House,
  KeyRound,
  Layers,
  ListTree,
  MessageSquareText,
  Plug,
  Rocket,
  ScrollText,
  Settings,
  ShieldCheck,
  Tags,
  Users,
  Ticket,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { JSX } from 'react';
import { accountQuery } from '../queries.ts';
import { shell as t } from '../strings/index.ts';
import { isViewable, viewedAccount } from '../viewed.ts';

interface NavigationItem {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
  readonly Icon: LucideIcon;
}

interface NavigationGroup {
  readonly title: string;
  readonly items: readonly NavigationItem[];
}

const GROUPS: readonly NavigationGroup[] = [
  {
    title: t.groups.use,
    items: [
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
    items: [
      { to: '/billing', label: t.nav.billing, Icon: CreditCard },
      { to: '/plans', label: t.nav.plans, Icon: Layers },
      { to: '/alerts', label: t.nav.alerts, Icon: Bell },
    ],
  },
  {
    title: t.groups.more,
    items: [
      { to: '/models', label: t.nav.models, Icon: Tags },
      { to: '/docs', label: t.nav.docs, Icon: BookOpen },
      { to: '/status', label: t.nav.status, Icon: Activity },
      { to: '/settings', label: t.nav.settings, Icon: Settings },
    ],
  },
];

/** Operators get a link to the operator pages. Those have their own menu, with a link back. */
const TO_ADMIN: NavigationGroup = { title: t.groups.run, items: [{ to: '/admin', label: t.nav.admin, Icon: ShieldCheck }] };
const ADMIN_GROUPS: readonly NavigationGroup[] = [
  {
    title: t.groups.run,
    items: [
      { to: '/admin', label: t.nav.overview, Icon: House },
      { to: '/admin/accounts', label: t.nav.accounts, Icon: Users },
      { to: '/admin/requests', label: t.nav.requests, Icon: ListTree },
      { to: '/admin/payments', label: t.nav.payments, Icon: CreditCard },
      { to: '/admin/codes', label: t.nav.codes, Icon: Ticket },
      { to: '/admin/plans', label: t.nav.plans, Icon: Layers },
      { to: '/admin/models', label: t.nav.models, Icon: Tags },
      { to: '/admin/providers', label: t.nav.providers, Icon: Plug },
      { to: '/admin/audit', label: t.nav.audit, Icon: ScrollText },
      { to: '/admin/settings', label: t.nav.settings, Icon: Settings },
      { to: '/admin/first-steps', label: t.nav.firstSteps, Icon: Rocket },
    ],
  },
  { title: t.groups.own, items: [{ to: '/overview', label: t.nav.back, Icon: ArrowLeft }] },
];

/** The pages that exist while viewing another account. */
const VIEWED_GROUPS: readonly NavigationGroup[] = GROUPS.map(({ title, items }) => ({
  title,
  items: items.filter(({ to }) => isViewable(to)),
})).filter(({ items }) => items.length > 0);

/** Links to every page of the app, or to every operator page. */
export function Navigation({ onFollow }: { readonly onFollow?: () => void }): JSX.Element {
  const { data } = useQuery(accountQuery);
  const isAdmin = useLocation({ select: ({ pathname }) => pathname.startsWith('/admin') });
  const isOperator = data?.isOperator === true;
  const userGroups = viewedAccount !== undefined ? VIEWED_GROUPS : isOperator ? [...GROUPS, TO_ADMIN] : GROUPS;
  return (
    <nav aria-label={t.navigation} className="flex flex-col gap-5">
      {(isAdmin && isOperator ? ADMIN_GROUPS : userGroups).map(({ title, items }) => (
        <div key={title}>
          <p className="label-caps mb-1 px-2.5">{title}</p>
          <ul className="flex flex-col gap-px">
            {items.map(({ to, label, Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  onClick={() => onFollow?.()}
                  activeOptions={{ includeSearch: false, exact: to === '/admin' }}
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
