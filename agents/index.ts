export { defineAgent, resolveMaxSteps, DEFAULT_MAX_STEPS } from './define-agent.js';
export type { AgentConfig } from './define-agent.js';
export { fromAiSdkTool, toolContextOf } from './ai-sdk/ai-sdk-tool.js';
export type { AiSdkTool, DurableSettings } from './ai-sdk/ai-sdk-tool.js';
export { fromAgent, type AgentSettings, type AiSdkAgent } from './ai-sdk/from-agent.js';
export type { CallOptions, CallOptionsScope } from './ai-sdk/join-hooks.js';
export type { AgentTools } from './ai-sdk/agent-tools.js';
export { defineTool } from './define-tool.js';
export type { InferAgentTools, OutputOf, TypedAgent, TypedTool } from './tool-types.js';
export type {
  ToolConfig,
  ApprovalCall,
  ApprovalRequest,
  ApprovalRule,
  ApprovalVerdict,
  ApproverRule,
  ApproverVerdict,
  ProviderTool,
  RetryPolicy,
  ToModelOutput,
} from './tool-config.js';
export {
  createSubAgentTool,
  isSubAgentTool,
  SUBAGENT_TOOL_PREFIX,
} from './create-sub-agent-tool.js';
export type { SubAgentToolConfig } from './create-sub-agent-tool.js';
export type { AgentDefinition, SubAgent, ToolDefinition } from './definitions.js';
export type {
  AgentModel,
  LlmConfig,
  LlmSettings,
  ModelChoice,
  Pricing,
  SamplingSettings,
} from './llm-settings.js';
export type {
  CompactedMessages,
  CompactionRecord,
  FailedCompaction,
  MadeCompaction,
  PreparedStep,
  PrepareStep,
  PrepareStepOptions,
  ToolChoice,
  FinishEvent,
  HookPlace,
  Instructions,
  ModelToolCall,
  OnFinish,
  OnStepFinish,
  RepairToolCall,
  StepFinishEvent,
  StepRecord,
  StopCondition,
  StopWhen,
} from './step-hooks.js';
export type { AgentPage, SpendCap } from './agent-config.js';
export type { SourcedTool, ToolHost, ToolSource } from './tool-source.js';
export { guardedLookup, isPermitted, isPermittedUrl, type HostRule } from './guarded-lookup.js';
export { toModelNames } from './tool-names.js';
export {
  callback,
  Callback,
  Count,
  Duration,
  Flag,
  isFunction,
  isObject,
  isTexts,
  must,
  settings,
  Text,
} from './fields.js';
export { Model, Prices } from './llm-settings.js';
export { assertSettings, DefinitionError } from './definition-error.js';
export { modelFromSpec, modelsFromSpec } from './model-spec.js';
export { ModelConfigurationError, type ModelEnvironment } from './model-spec.js';
export { resolveModel } from './model.js';
export { createAgentState } from './agent-state.js';
export { AgentNotFoundError, AgentRegistry, defaultAgentRegistry } from './registry.js';
export type { AgentFactory, AgentScope } from './registry.js';
export { FINISH_TOOL_NAME } from '../protocol/ids.js';
export { readChangedInput, type ChangedInput } from '../protocol/answers.js';
export { toMessageText, toTurn, type Turn } from './scripted/conversation.js';
export { pause, createReplyModel, createReply, cutText, cutWords } from './scripted/reply-model.js';
export type {
  ReplyModelConfig,
  Piece,
  Reply,
  ReplyCall,
  ReplyFailure,
} from './scripted/reply-model.js';
export { createRuleModel } from './scripted/rule-model.js';
export type { RuleReply, RuleResult, RuleTurn } from './scripted/rule-model.js';
export { createScriptedModel, isScriptedModel } from './scripted/scripted-model.js';
export type { ScriptStep } from './scripted/scripted-model.js';
export type { LostCall, ToolCallIdentity, ToolContext, Verification } from './tool-context.js';
export type { Principal } from '../protocol/actor.js';
export { StateError, ToolError, type StateErrorCode } from './tool-error.js';
