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

interface Place {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
  readonly Icon: LucideIcon;
}

interface Group {
  readonly title: string;
  readonly places: readonly Place[];
}

const GROUPS: readonly Group[] = [
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

/** Who runs the service has a way to its pages, which have a list of their own, and from there back. */
const TO_ADMIN: Group = { title: t.groups.run, places: [{ to: '/admin', label: t.nav.admin, Icon: ShieldCheck }] };
const ADMIN_GROUPS: readonly Group[] = [
  {
    title: t.groups.run,
    places: [
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
  { title: t.groups.own, places: [{ to: '/overview', label: t.nav.back, Icon: ArrowLeft }] },
];

/** What there is of somebody else's account. */
const VIEWED_GROUPS: readonly Group[] = GROUPS.map(({ title, places }) => ({
  title,
  places: places.filter(({ to }) => isViewable(to)),
})).filter(({ places }) => places.length > 0);

/** The way to every page of the app, or of the operator's part of it. */
export function Navigation({ onFollow }: { readonly onFollow?: () => void }): JSX.Element {
  const { data } = useQuery(accountQuery);
  const isAdmin = useLocation({ select: ({ pathname }) => pathname.startsWith('/admin') });
  const isOperator = data?.isOperator === true;
  const own = viewedAccount !== undefined ? VIEWED_GROUPS : isOperator ? [...GROUPS, TO_ADMIN] : GROUPS;
  return (
    <nav aria-label={t.navigation} className="flex flex-col gap-5">
      {(isAdmin && isOperator ? ADMIN_GROUPS : own).map(({ title, places }) => (
        <div key={title}>
          <p className="label-caps mb-1 px-2.5">{title}</p>
          <ul className="flex flex-col gap-px">
            {places.map(({ to, label, Icon }) => (
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
