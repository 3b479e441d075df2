// The newest clients of 6 that the project has among its own packages.
export * as ai from 'ai-v6';
export * as aiReact from 'ai-sdk-react-v6';
export * as React from 'react';
export * as ReactDomClient from 'react-dom/client';
