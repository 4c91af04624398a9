import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { JSX } from 'react';
import { settings as t } from '../../strings/index.ts';
import { useTitleDetail } from '../../ui/document-title.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { DataTab } from './data-tab.tsx';
import { ProfileTab } from './profile-tab.tsx';
import { SETTINGS_TABS } from './search.ts';
import { SecurityTab } from './security-tab.tsx';
import { SessionsCard } from './sessions-card.tsx';

const route = getRouteApi('/app/settings');
const TABS = { profile: ProfileTab, security: SecurityTab, sessions: SessionsCard, data: DataTab } as const;

/** Settings of the signed-in user. */
export function SettingsPage(): JSX.Element {
  const { tab = 'profile' } = route.useSearch();
  const navigate = useNavigate();
  const Tab = TABS[tab];
  useTitleDetail(t.tabs[tab]);
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Segmented
        label={t.parts}
        value={tab}
        choices={SETTINGS_TABS.map((value) => ({ value, label: t.tabs[value] }))}
        onChoose={(value) => void navigate({ to: '/settings', search: { tab: value } })}
        className="mb-6"
      />
      <div className="flex max-w-3xl flex-col gap-6">
        <Tab />
      </div>
    </>
  );
}
