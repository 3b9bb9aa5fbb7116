//! The policy of a catalog as Rust source.

use climax_catalog::policy::{
    Access, AskedCage, Bypass, Confine, ConfineLevel, Headless, JudgeRules, Level, LineRules, ProjectFiles, Protection,
    Runtime, SandboxLimits, SensitiveRule, UnknownProgram,
};
use climax_catalog::{ExecutorDef, PolicyDef, Risk};
use proc_macro2::TokenStream;
use quote::quote;

use super::tokens::{list, number, optional, optional_with, text};

pub(super) fn policy(row: &PolicyDef) -> TokenStream {
    let PolicyDef { access, level, headless, deny, env, confine, lines, send, judgement, executor } = *row;
    let LineRules { unknown, widest, protect } = lines;
    let Confine { level: confined, required } = confine;
    let [deny, env, send] = [deny, env, send].map(list);
    let judgement = self::judgement(judgement);
    let access = match access {
        Access::Enabled => quote!(Enabled),
        Access::Disabled => quote!(Disabled),
    };
    let level = match level {
        Level::None => quote!(None),
        Level::Destructive => quote!(Destructive),
        Level::Write => quote!(Write),
        Level::All => quote!(All),
    };
    let headless = match headless {
        Headless::Deny => quote!(Deny),
        Headless::Approve => quote!(Approve),
    };
    let executor = self::executor(executor);
    let confined = optional_with(confined, |level| match level {
        ConfineLevel::Off => quote!(::climax::catalog::policy::ConfineLevel::Off),
        ConfineLevel::Read => quote!(::climax::catalog::policy::ConfineLevel::Read),
        ConfineLevel::All => quote!(::climax::catalog::policy::ConfineLevel::All),
    });

    let unknown = optional_with(unknown, |unknown| match unknown {
        UnknownProgram::Refuse => quote!(::climax::catalog::policy::UnknownProgram::Refuse),
        UnknownProgram::Read => quote!(::climax::catalog::policy::UnknownProgram::Read),
        UnknownProgram::Workspace => quote!(::climax::catalog::policy::UnknownProgram::Workspace),
    });
    let widest = match widest {
        AskedCage::Read => quote!(Read),
        AskedCage::Workspace => quote!(Workspace),
        AskedCage::None => quote!(None),
    };
    let protect = match protect {
        Protection::Restore => quote!(Restore),
        Protection::Kernel => quote!(Kernel),
    };

    quote! {{
        use ::climax::catalog::policy::{Access, Confine, Headless, Level, LineRules, Protection, AskedCage};
        ::climax::catalog::PolicyDef {
            access: Access::#access, level: Level::#level, headless: Headless::#headless, deny: #deny, env: #env,
            confine: Confine { level: #confined, required: #required },
            lines: LineRules {
                unknown: #unknown, widest: AskedCage::#widest, protect: Protection::#protect
            }, send: #send, judgement: #judgement,
            executor: #executor
        }
    }}
}

fn judgement(judgement: JudgeRules) -> TokenStream {
    let JudgeRules { project, sensitive, hook_allow, bypass } = judgement;
    let project = match project {
        ProjectFiles::Write => quote!(Write),
        ProjectFiles::Destructive => quote!(Destructive),
    };
    let sensitive = optional_with(sensitive, |rule| match rule {
        SensitiveRule::Allow => quote!(::climax::catalog::policy::SensitiveRule::Allow),
        SensitiveRule::Ask => quote!(::climax::catalog::policy::SensitiveRule::Ask),
        SensitiveRule::Deny => quote!(::climax::catalog::policy::SensitiveRule::Deny),
    });
    let hook_allow = match hook_allow {
        Risk::Read => quote!(Read),
        Risk::Write => quote!(Write),
        Risk::Destructive => quote!(Destructive),
    };
    let bypass = match bypass {
        Bypass::Usual => quote!(Usual),
        Bypass::Strict => quote!(Strict),
    };
    quote!(::climax::catalog::policy::JudgeRules {
        project: ::climax::catalog::policy::ProjectFiles::#project,
        sensitive: #sensitive,
        hook_allow: ::climax::catalog::Risk::#hook_allow,
        bypass: ::climax::catalog::policy::Bypass::#bypass,
    })
}

fn executor(executor: ExecutorDef) -> TokenStream {
    match executor {
        ExecutorDef::Local => quote!(::climax::catalog::ExecutorDef::Local),
        ExecutorDef::Container { runtime, image, volumes, working_dir, network } => {
            let runtime = match runtime {
                Runtime::Docker => quote!(Docker),
                Runtime::Podman => quote!(Podman),
                Runtime::Nerdctl => quote!(Nerdctl),
            };
            let image = text(image);
            let volumes = list(volumes);
            let [working_dir, network] = [working_dir, network].map(optional);
            quote!(::climax::catalog::ExecutorDef::Container {
                runtime: ::climax::catalog::policy::Runtime::#runtime,
                image: #image, volumes: #volumes, working_dir: #working_dir, network: #network
            })
        }
        ExecutorDef::Sandbox { read, write, network, limits } => {
            let [read, write] = [read, write].map(list);
            let SandboxLimits { memory_mb, cpu_s, processes, file_mb } = limits;
            let [memory_mb, cpu_s, processes, file_mb] =
                [memory_mb, cpu_s, processes, file_mb].map(|limit| optional_with(limit, number));
            quote!(::climax::catalog::ExecutorDef::Sandbox {
                read: #read, write: #write, network: #network,
                limits: ::climax::catalog::policy::SandboxLimits {
                    memory_mb: #memory_mb, cpu_s: #cpu_s, processes: #processes, file_mb: #file_mb
                }
            })
        }
    }
}
