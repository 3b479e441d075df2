// The newest client of major 6 in this project's packages.
export * as ai from 'ai-v6';
export * as aiReact from 'ai-sdk-react-v6';
export * as React from 'react';
export * as ReactDomClient from 'react-dom/client';
