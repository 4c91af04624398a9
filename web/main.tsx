import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchHistory } from './back-button.ts';
import { queryClient } from './queries.ts';
import { router } from './routes.tsx';
import { watchSession } from './session-end.ts';
import { applyTheme } from './theme.ts';
import { ToastProvider } from './ui/toast.tsx';

applyTheme();
watchHistory(router.history);
watchSession();
const element = document.getElementById('root');
if (element === null) throw new Error('index.html has no element with the id root.');
createRoot(element).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <ToastProvider>
          <RouterProvider router={router} />
        </ToastProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
